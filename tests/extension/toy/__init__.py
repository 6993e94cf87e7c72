from explorer.action import Action, Lab
from explorer.engine.protocol import Job
from explorer.labs.toy.figures import lengths_table
from explorer.labs.toy.schema import LengthsParams

MEASURE = Action("toy_lengths", Job("explorer.labs.toy.jobs:measure"), LengthsParams, lengths_table)
BUILD = "explorer.labs.toy.page:build"
LAB = Lab("toy", "Toy lab", "Read", "How long are the tokens?", "Count their letters.", None, (MEASURE,), BUILD)
