"""Commands that run statements: `twinhive sql`, `export`, `import`."""
