"""One word in several sentences: its vectors' similarity over the layers, and one layer as a plane and as a grid."""
