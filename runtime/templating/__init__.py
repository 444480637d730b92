"""Jinja2 templates over what tools tell, rendered in a process of their own.

    text -sheet.read_sheet-> Sheet (header, body) -renderer.Renderer-> Markdown | TemplateError with the line
                                                        `- program, environment, filters, marks: the process

A template is written by whoever may plan one, and its data may come from anywhere. So data cannot become layout (every
value is escaped as it is put in), a template reaches nothing but its data, and one that never ends is killed.
"""
