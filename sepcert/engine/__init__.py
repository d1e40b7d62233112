"""All float algorithms: they propose separators and witnesses, and prove nothing by themselves."""
