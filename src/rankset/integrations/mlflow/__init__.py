"""Integration with MLflow: a rule becomes an MLflow model, which answers with sets of labels.

    rankset.mlflow.save_model(rule, "sets")                          # a folder
    rankset.mlflow.log_model(rule, name="sets")                      # an entry of a tracking server
    answers = mlflow.pyfunc.load_model("sets").predict(outputs, params={"alpha": 0.05})

Without ``model=`` the input of the MLflow model are outputs of a classifier: a column per class, or a matrix. With
``model="models:/emotions/3"`` the input is that of the logged model, whose outputs the rule takes.

The folder has the file of the rule, which holds data only, and a short Python file that loads it. There is no pickle.
"""

from rankset.integrations.mlflow.saving import log_model, save_model

__all__ = ["log_model", "save_model"]
