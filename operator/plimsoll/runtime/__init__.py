"""The process: settings, wiring, the loop around the Scheduler, refreshes, binds, the HTTP server, start and stop."""
