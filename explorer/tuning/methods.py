"""The ways to fine-tune, one entry each; nothing here imports torch, so that a page can list them.

Every method also trains the fresh head (the classifier, and a pooler where the checkpoint has none). No method drops out
anything in the body: the frozen weights then give the same numbers at every step, which keeps the runs comparable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from explorer.errors import BadInputError
from explorer.models.architectures import Architecture, Capability


def _always(architecture: Architecture, config: Mapping[str, Any]) -> str | None:
    return None


def _needs_biases(architecture: Architecture, config: Mapping[str, Any]) -> str | None:
    switches = architecture.layers.bias_switches
    if not switches or any(config.get(switch) for switch in switches):
        return None
    return f"{architecture.family} has no bias vectors to train. Take IA³, which also trains one vector a matrix."


def _needs_past(architecture: Architecture, config: Mapping[str, Any]) -> str | None:
    if architecture.layers.takes_prefix:
        return None
    return (
        f"The attention of {architecture.family} in transformers cannot be given keys and values that stand before the "
        "text. Take Prefix-embedding, which puts its vectors before the first layer only."
    )


def _needs_masks(architecture: Architecture, config: Mapping[str, Any]) -> str | None:
    if Capability.MLM in architecture.heads:
        return None
    return f"{architecture.family} fills no masks, so it has nothing to teach on plain text. Choose bert-small or another BERT."


@dataclass(frozen=True)
class Method:
    """One way to fine-tune.

    options: the fields of RunSpec that it reads. learning_rate: what a RunSpec without one takes. build: "module:function",
    called with (fork, spec, layers), which returns the module to call. unavailable: says in a sentence why the method cannot
    be had on a family with this config (config.json's values), or None.
    products: the multiplications of a step in units of one pass through the body: 1 forward, 1 back to what is trained, 1
    for the gradients of matrices. kept: float32 numbers that a layer keeps of each token for the backward pass, in units of
    the hidden size, measured with torch's saved-tensor hooks on BERT (whose inner width is four times that). lengthens: its
    virtual tokens go through the layers as the text's do. fills_masks: it learns from plain text and keeps the model's own head.
    """

    slug: str
    title: str
    summary: str
    formula: str
    source: str
    options: tuple[str, ...]
    learning_rate: float
    build: str
    unavailable: Callable[[Architecture, Mapping[str, Any]], str | None] = _always
    products: int = 2
    kept: int = 11
    lengthens: bool = False
    fills_masks: bool = False

    @property
    def needs_teacher(self) -> bool:
        """Whether it learns from another run."""
        return "teacher" in self.options

    @property
    def is_student(self) -> bool:
        """Whether its model has some of the layers alone, all of them trained."""
        return "student_layers" in self.options


METHODS = (
    Method(
        "full",
        "Full fine-tuning",
        "Every weight of the model is trained. It is the yardstick for all other methods, and each task costs a whole copy "
        "of the model.",
        r"W' = W + \Delta W,\quad \Delta W \in \mathbb{R}^{d \times k}\ \text{free}",
        "Devlin et al. 2019, BERT, section 3.2",
        (),
        5e-5,
        "explorer.tuning.body_methods:full",
        products=3,
        kept=16,
    ),
    Method(
        "head",
        "Head only",
        "The model stays as it is and only the classifier on top is trained. It shows what the pretrained features already "
        "hold.",
        r"\hat{y} = \mathrm{softmax}(W_c\, h_{\mathrm{[CLS]}} + b_c),\quad h\ \text{fixed}",
        "Devlin et al. 2019, BERT, section 5.3 (the feature-based approach)",
        (),
        5e-3,
        "explorer.tuning.body_methods:head",
        products=1,
        kept=0,
    ),
    Method(
        "bitfit",
        "BitFit",
        "Only the bias vectors are trained, about 0.1% of the model. Every matrix keeps its pretrained values.",
        r"h = W x + b',\quad b' = b + \Delta b",
        "Ben Zaken, Ravfogel and Goldberg 2022, BitFit",
        (),
        2e-3,
        "explorer.tuning.body_methods:bitfit",
        _needs_biases,
    ),
    Method(
        "lora",
        "LoRA",
        "The update of each chosen matrix is a product of two thin ones, B A, and only these are trained. It starts at zero "
        "and can be added to W afterwards, so that the adapted model is as quick as the original. Variants: rsLoRA scales by "
        "alpha over the root of r, DoRA trains the length of each row apart from its direction, and PiSSA starts from W's "
        "largest singular directions instead of zero.",
        r"h = W x + \frac{\alpha}{r} B A x,\quad A \in \mathbb{R}^{r \times k},\ B \in \mathbb{R}^{d \times r}",
        "Hu et al. 2021, LoRA; Kalajdzievski 2023, rsLoRA; Liu et al. 2024, DoRA; Meng et al. 2024, PiSSA",
        ("rank", "alpha", "dropout", "targets", "variant"),
        1e-3,
        "explorer.tuning.peft_methods:lora",
    ),
    Method(
        "prompt",
        "Prefix-embedding",
        "A few trained vectors stand before the text's embeddings, as if they were words that no vocabulary has. Everything "
        "else is frozen. The model reads a text that is longer by as many tokens.",
        r"\left[\,p_1, \dots, p_m, e_1, \dots, e_n\,\right],\quad p_i \in \mathbb{R}^{E}\ \text{trained}",
        "Lester, Al-Rfou and Constant 2021 (prompt tuning); Hu et al. 2021, LoRA, section 5.1 (PreEmbed)",
        ("prefix_length",),
        5e-3,
        "explorer.tuning.peft_methods:prompt",
        lengthens=True,
    ),
    Method(
        "prefix",
        "Prefix-layer",
        "Every layer gets trained keys and values that stand before those of the text, so each token can attend to them. "
        "The prefix acts in each layer, where Prefix-embedding acts before the first alone.",
        r"\mathrm{Att}\!\left(q,\ [P_K; K],\ [P_V; V]\right),\quad P_K, P_V \in \mathbb{R}^{m \times H}\ \text{in each layer}",
        "Li and Liang 2021 (prefix tuning, without its reparametrisation); Hu et al. 2021, LoRA, section 5.1",
        ("prefix_length",),
        2e-2,
        "explorer.tuning.peft_methods:prefix",
        _needs_past,
    ),
    Method(
        "houlsby",
        "Adapters (Houlsby)",
        "Two small networks are put into each layer, after the attention and after the feed-forward block: down to a few "
        "dimensions, a nonlinearity, and up again. They start as the identity. They cannot be merged, so they cost time "
        "after training too.",
        r"h \leftarrow h + W_{\mathrm{up}}\, \mathrm{GELU}(W_{\mathrm{down}}\, h),\quad \text{twice a layer}",
        "Houlsby et al. 2019 (their layer norms, also trained there, stay frozen here)",
        ("bottleneck", "dropout"),
        1e-3,
        "explorer.tuning.bottleneck:houlsby",
    ),
    Method(
        "pfeiffer",
        "Adapters (Pfeiffer)",
        "As Houlsby's, with one network a layer, after the feed-forward block. Half the parameters and half the added time "
        "do almost as well.",
        r"h \leftarrow h + W_{\mathrm{up}}\, \mathrm{ReLU}(W_{\mathrm{down}}\, h),\quad \text{once a layer}",
        "Pfeiffer et al. 2021, AdapterFusion (AdptP in the LoRA paper)",
        ("bottleneck", "dropout"),
        1e-3,
        "explorer.tuning.bottleneck:pfeiffer",
    ),
    Method(
        "ia3",
        "IA³",
        "Keys, values and the inner activations of the feed-forward block are each multiplied by a trained vector that "
        "starts at one. It trains the fewest numbers of all the methods that reach into the layers.",
        r"k' = l_k \odot k,\quad v' = l_v \odot v,\quad \mathrm{FFN}(x) = W_2\,(l_{ff} \odot \gamma(W_1 x))",
        "Liu et al. 2022, Few-Shot Parameter-Efficient Fine-Tuning is Better and Cheaper than In-Context Learning",
        (),
        1e-2,
        "explorer.tuning.peft_methods:ia3",
        kept=16,
    ),
)

STUDENT = Method(
    "distill",
    "Student",
    "A model with fewer layers learns to answer as its teacher does: from the probabilities that the teacher gives to all "
    "classes, and not only from the label. Every weight of the student is trained.",
    r"L = w_{\mathrm{soft}}\, T^2\, \mathrm{KL}\!\left(\mathrm{softmax}(z_t / T)\,\|\,\mathrm{softmax}(z_s / T)\right) + "
    r"w_{\mathrm{hard}}\, L_{CE} + w_{\cos}\,(1 - \cos(h_s, h_t))",
    "Hinton, Vinyals and Dean 2015; Sanh et al. 2019, DistilBERT, section 3",
    (
        *("teacher", "student_layers", "start", "temperature", "soft_loss"),
        *("soft_weight", "hard_weight", "cosine_weight", "labelled"),
    ),
    1e-4,
    "explorer.tuning.body_methods:student",
    products=3,
    kept=16,
)
"""How a student is trained. It needs a teacher, so it is no entry of METHODS, which fine-tune a model by itself."""

TEXT_STUDENT = Method(
    "distill_text",
    "Student on plain text",
    "Some of a model's layers learn to fill masks as all of them do: from the probabilities that the whole model gives to every "
    "word of the vocabulary, from the hidden word, and from the whole model's last states. No label is needed.",
    r"L = w_{\mathrm{soft}}\, T^2\, \mathrm{KL}\!\left(\mathrm{softmax}(z_t / T)\,\|\,\mathrm{softmax}(z_s / T)\right) + "
    r"w_{\mathrm{mlm}}\, L_{mlm} + w_{\cos}\,(1 - \cos(h_s, h_t))",
    "Sanh et al. 2019, DistilBERT, sections 2 and 3",
    tuple(option for option in STUDENT.options if option not in ("teacher", "labelled")),
    STUDENT.learning_rate,
    STUDENT.build,
    _needs_masks,
    products=3,
    kept=16,
    fills_masks=True,
)
"""The same on plain text: its teacher is the model itself, which has a head already."""


def find_method(slug: str) -> Method:
    """A method by its name. Raises BadInputError, naming those there are."""
    found = {method.slug: method for method in (*METHODS, STUDENT, TEXT_STUDENT)}.get(slug)
    if found is None:
        raise BadInputError(f"There is no method {slug!r}. Take one of {', '.join(method.slug for method in METHODS)}.")
    return found
