"""Placet: Slack approvals for LangChain and LangGraph agents."""
