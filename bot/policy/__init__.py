"""Who may decide what: the policy file, its rules, and what they say of one person and one call."""
