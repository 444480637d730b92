"""Reads documents: PDFs, office files, books, tables and mails."""
