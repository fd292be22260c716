"""LangGraph: Aegra, LangGraph Platform and `langgraph dev`, over HTTP."""
