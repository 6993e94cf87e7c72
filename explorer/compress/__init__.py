"""Making a model smaller: what matters in it, taking the rest away, fewer bits a weight."""
