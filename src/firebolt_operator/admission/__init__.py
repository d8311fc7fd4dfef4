"""The webhook server: AdmissionReview in, policy call, AdmissionReview out; and its certificates."""
