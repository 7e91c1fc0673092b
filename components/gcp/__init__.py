"""GKE: everything that is declared in Google Cloud. Never imports add-ons or another cloud."""
