"""Informers, caches, the work queue, controllers, leader election with fencing, servers; knows no kind of ours."""
