"""GKE: everything that is declared in Google Cloud. Never imports the layer or another cloud."""
