"""Sentences to compare."""

TRY = (
    ("whom or who", ("The man whom I met was kind.", "The man who I met was kind.")),
    ("Word order", ("The boy ate the apple.", "The apple ate the boy.")),
    ("A fact", ("The capital of France is Paris.", "The capital of France is London.")),
    ("A word in pieces", ("She saw an orangutan in the zoo.", "She saw an animal in the zoo.")),
    (
        "Names of two words",
        ("New York", "Puerto Rico", "Buenos Aires", "Hong Kong", "Sri Lanka", "San Francisco", "Costa Rica"),
    ),
)
"""One-click experiments; the last shows that the scores of a few texts add up to more than 1."""
