"""The sandbox's own endpoints under `/sandbox/`: being a person, looking around, and making things go wrong."""
