"""All that people can get wrong: the rules, found in the code, and a case for each."""
