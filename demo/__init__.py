"""The main job on real parts: a control plane, twelve nodes under load, two policies, 120 pods."""
