"""The Web API: methods, the way in to them, and the response_url hooks."""
