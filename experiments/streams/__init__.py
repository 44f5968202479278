"""Streams of model outputs that drift, what levels do on them, and when alarms are raised."""
