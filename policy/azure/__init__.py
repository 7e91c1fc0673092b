"""AKS and its surroundings as the rules see them."""
