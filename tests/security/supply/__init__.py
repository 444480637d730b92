"""What Signalbox is made of: pins, licences, releases that nobody may install, and the bill of it."""
