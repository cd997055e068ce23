"""How people see all this: the command line and pages."""
