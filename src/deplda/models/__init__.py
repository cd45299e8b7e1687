"""The models as scikit-learn estimators: what they learn, predict, explain and save."""
