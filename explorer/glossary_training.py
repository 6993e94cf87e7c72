"""The glossary's words for how a model is trained, adapted and made smaller."""

from __future__ import annotations

from explorer.glossary_models import Entry

TRAINED = ("pretrain", "finetune", "distillation")
"""The labs in which training runs, step by step."""

TRAINING_WORDS = (
    # Pretraining and training.
    Entry(
        "pretraining",
        "A model's first and longest training, on plain text: it learns the language, and no task yet.",
        also=("pretrained", "pretrains"),
    ),
    Entry("MLM", "Masked language modelling: guess hidden tokens from all others.", exact=True),
    Entry("NSP", "Next-sentence prediction: does the second sentence follow the first in the text?", exact=True),
    Entry("SOP", "Sentence-order prediction: do two neighbouring sentences stand in their order?", exact=True),
    Entry(
        "loss",
        "How wrong a model is, as one number; training makes it smaller.",
        (
            "models",
            "inputs",
            "directions",
            "masking",
            "replaced",
            "pairs",
            "finetune",
            "generation",
            "pretrain",
            "distillation",
        ),
        also=("losses",),
    ),
    Entry(
        "gradient",
        "How steeply a result, such as the loss, rises with each number that it depends on; training goes downhill.",
        also=("gradients",),
    ),
    Entry("backward pass", "The way back through a model, from its loss to the gradient of every weight."),
    Entry(
        "activations",
        "What the layers compute on the way; training keeps it until the gradients are computed.",
        ("finetune",),
    ),
    Entry(
        "Adam",
        "The usual way to train: how far a weight moves goes by its latest gradients, and by how large they have been.",
        exact=True,
    ),
    Entry("step", "One change of the weights in training, made after one batch of examples.", TRAINED, also=("steps",)),
    Entry(
        "batch",
        "The texts that a model works through at once; in training the weights change after each batch.",
        also=("batches",),
    ),
    Entry("epoch", "One pass of training through all its examples.", also=("epochs",)),
    Entry("learning rate", "How far the weights move at each step of training.", also=("peak rate",)),
    Entry("warm-up", "The first steps of training, in which the learning rate rises from 0 to its peak."),
    Entry(
        "seed",
        "The number that random draws start from: the same seed gives the same draws again.",
        (
            "models",
            "inputs",
            "masking",
            "replaced",
            "pretrain",
            "finetune",
            "generation",
            "delta",
            "distillation",
            "pruning",
        ),
        also=("seeds",),
    ),
    Entry(
        "checkpoint",
        "What is saved of a training at one moment: the weights, or as many of them as are trained.",
        also=("checkpoints",),
    ),
    Entry(
        "held out",
        "Kept away from training, so that it shows how a model does on what it has not learned from.",
        also=("held-out",),
    ),
    Entry(
        "label",
        "The right answer that comes with an example.",
        ("finetune", "distillation", "pruning"),
        also=("labels",),
    ),
    # Adapting.
    Entry("fine-tuning", "Training a pretrained model further, on the examples of one task.", also=("fine-tuned",)),
    Entry("full fine-tuning", "Fine-tuning in which every weight of the model is trained."),
    Entry("untouched", "As it was before any fine-tuning.", ("generation",)),
    Entry("head only", "Fine-tuning in which the new head is trained and all below it stays as it was."),
    Entry("frozen", "Left by training as it is."),
    Entry("LoRA", "Low-rank adaptation: W stays as it is, and a product of two thin trained matrices is added to it."),
    Entry("rsLoRA", "LoRA whose update is scaled by α/√r and not by α/r, so that it doesn't fade at high ranks."),
    Entry("DoRA", "LoRA that learns the size and the direction of a matrix's weights apart from each other."),
    Entry("PiSSA", "LoRA whose thin matrices start as W's own strongest directions."),
    Entry("BitFit", "Fine-tuning in which the biases are trained and no matrix is, apart from the head's."),
    Entry(
        "IA³",
        "Fine-tuning by factors: keys, values and the inside of the feed-forward net are scaled by trained parameters.",
    ),
    Entry(
        "adapter",
        "A small part that is put into a model and trained, while the model's own weights stay as they are.",
        ("agrees", "delta", "finetune", "generation"),
        also=("adapters",),
    ),
    Entry(
        "prefix",
        "Trained vectors that go before every text, while the model's own weights stay as they are.",
        ("agrees", "delta", "finetune", "generation"),
        also=("prefixes", "prefix-layer", "prefix-embedding"),
    ),
    Entry(
        "merged",
        "Added to the model's own weights once and for all, so that it costs no time any more.",
        ("finetune", "generation"),
    ),
    # The update.
    Entry("ΔW", "The update: what fine-tuning adds to a weight matrix W.", exact=True),
    Entry(
        "BA",
        "LoRA's update: the product of a matrix B with r columns and a matrix A with r rows.",
        ("finetune", "delta"),
        True,
    ),
    Entry(
        "rank",
        "Of a matrix: how many independent directions it has; LoRA's update has at most r of them.",
        ("finetune", "delta"),
    ),
    Entry(
        "intrinsic rank",
        "How many directions an update needs, however many it may take: few, as LoRA's authors suppose.",
        ("delta",),
    ),
    Entry(
        "directions",
        "A matrix turns each of its input directions into an output direction, stretched by a singular value.",
        ("delta",),
        also=("direction",),
    ),
    Entry(
        "singular values",
        "How strongly a matrix stretches each of its directions, largest first.",
        also=("singular value",),
    ),
    Entry("spectrum", "All singular values of a matrix, from the largest to the smallest.", ("delta",)),
    Entry(
        "energy",
        "Of a matrix: the sum of its squared singular values, of which every direction holds a share.",
        ("delta",),
    ),
    Entry("left-singular", "The output directions of a matrix, ordered by how strongly it stretches them."),
    Entry("right-singular", "The input directions of a matrix, ordered by how strongly it stretches them."),
    Entry("Frobenius", "The Frobenius norm: the root of the sum of all squared entries of a matrix."),
    Entry(
        "φ",
        "How much two subspaces share: 1 where the smaller one lies in the larger, 0 where they are orthogonal.",
        ("delta",),
    ),
    Entry(
        "intruder",
        "An intruder dimension: a strong direction of W + ΔW that is far from all of W's (Shuttleworth et al. 2024).",
        ("delta",),
        also=("intruders",),
    ),
    # Made smaller.
    Entry("distillation", "Training a smaller model, the student, to answer as a trained one does, its teacher."),
    Entry(
        "teacher", "The trained model whose answers a smaller one learns from.", ("distillation",), also=("teachers",)
    ),
    Entry(
        "student",
        "The smaller model, which learns to answer as its teacher does.",
        ("distillation",),
        True,
        ("students",),
    ),
    Entry(
        "soft targets",
        "The probabilities that a teacher gives to all answers, where a label names the right one alone.",
        also=("soft target",),
    ),
    Entry(
        "pruning",
        "Taking parts out of a trained model, those first that it needs least.",
        also=("prune", "pruned", "prunes"),
    ),
    Entry(
        "importance", "A score of how much the model needs a part; what has least of it is pruned first.", ("pruning",)
    ),
    Entry(
        "ξ",
        "A gate: a factor on what a head or a neuron passes on, 1 as trained and 0 where it is switched off.",
        also=("gate", "gates"),
    ),
    Entry("quantisation", "Storing weights with fewer bits each: the model is smaller, and a little less exact."),
    Entry("fp32", "Numbers of 32 bits, the usual kind."),
    Entry("bf16", "Numbers of 16 bits with the range of 32-bit ones and less precision."),
    Entry("int8", "Whole numbers from −128 to 127, with one scale for a matrix."),
)
