"""What matters: the importance of every head, neuron, layer or weight."""
