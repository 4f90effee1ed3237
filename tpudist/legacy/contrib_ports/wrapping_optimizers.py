"""Optimizers of ``tf.contrib.opt`` around others: decoupled weight decay, moving averages.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/contrib/opt.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from typing import Any

tf1: Any = tf.compat.v1


class DecoupledWeightDecayExtension:
    """Decays variables before the optimizer that stands after it in the bases updates them (r1.15).

    Args:
      weight_decay: the share of a variable that it loses in a step; a number, a tensor or
        a function without arguments.
      **kwargs: of the optimizer.

    `minimize` and `apply_gradients` take `decay_var_list`: the variables to decay; None for
    all.
    """

    def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
        self._weight_decay = weight_decay
        self._decay_var_list: Any = None
        super().__init__(**kwargs)

    def minimize(self, *args: Any, decay_var_list: Any = None, **kwargs: Any) -> Any:
        """As of the optimizer, and decays."""
        base: Any = super()
        self._decay_var_list = list(decay_var_list) if decay_var_list else None
        return base.minimize(*args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Any = None,
        name: str | None = None,
        decay_var_list: Any = None,
    ) -> Any:
        """As of the optimizer, and decays."""
        base: Any = super()
        if decay_var_list:
            self._decay_var_list = list(decay_var_list)
        return base.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _decays(self, var: Any) -> bool:
        listed = self._decay_var_list
        return listed is None or any(var is each or var.name == each.name for each in listed)

    def _decay(self) -> Any:
        return self._weight_decay() if callable(self._weight_decay) else self._weight_decay

    def _after_decay(self, apply: Any, var: Any, grad: Any, *args: Any) -> Any:
        """Applies a gradient, taken before the decay, to the variable after it."""
        if not self._decays(var):
            return apply(grad, *args)
        with tf.control_dependencies([grad]):
            lost = tf.cast(self._decay(), var.dtype.base_dtype) * var
        with tf.control_dependencies([tf1.assign_sub(var, lost)]):
            return apply(grad, *args)

    def _after_decay_of_rows(self, apply: Any, var: Any, indices: Any, *args: Any) -> Any:
        if not self._decays(var):
            return apply(*args)
        grad = args[0].values if isinstance(args[0], tf.IndexedSlices) else args[0]
        with tf.control_dependencies([grad]):
            rows, _ = tf.unique(indices)
            lost = tf.cast(self._decay(), var.dtype.base_dtype) * tf.gather(var, rows)
        with tf.control_dependencies([tf1.scatter_sub(var, rows, lost)]):
            return apply(*args)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        base: Any = super()
        return self._after_decay(base._apply_dense, var, grad, var)

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        base: Any = super()
        return self._after_decay(base._resource_apply_dense, var, grad, var)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        base: Any = super()
        return self._after_decay_of_rows(base._apply_sparse, var, grad.indices, grad, var)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        base: Any = super()
        return self._after_decay_of_rows(
            base._resource_apply_sparse, var, indices, grad, var, indices
        )


def extend_with_decoupled_weight_decay(base_optimizer: type) -> type:
    """A class like `base_optimizer` whose first argument is a weight decay (r1.15)."""

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        """The optimizer, with decoupled weight decay."""

    return OptimizerWithDecoupledWeightDecay


class AdamWOptimizer(DecoupledWeightDecayExtension, tf1.train.AdamOptimizer):
    """Adam with decoupled weight decay (r1.15)."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
        )


class MomentumWOptimizer(DecoupledWeightDecayExtension, tf1.train.MomentumOptimizer):
    """Momentum with decoupled weight decay (r1.15)."""

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )


class MovingAverageOptimizer(tf1.train.Optimizer):
    """Keeps moving averages of what an optimizer trains; a saver can swap them in (r1.15).

    Args:
      opt: the `tf.train.Optimizer`.
      average_decay, num_updates: of `tf.train.ExponentialMovingAverage`.
      sequential_update: whether the averages wait for the update of the step.
    """

    def __init__(
        self,
        opt: Any,
        average_decay: float = 0.9999,
        num_updates: Any = None,
        sequential_update: bool = True,
    ) -> None:
        self._optimizer = opt
        self._ema = tf.train.ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._sequential_update = sequential_update
        self._averages: dict[str, Any] | None = None

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """As of the optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """As of the optimizer; the op moves the averages, too."""
        pairs = list(grads_and_vars)
        train = self._optimizer.apply_gradients(pairs, global_step=global_step, name=name)
        trained = [variable for gradient, variable in pairs if gradient is not None]
        with tf.control_dependencies([train] if self._sequential_update else []):
            moved = self._ema.apply(trained)
        self._averages = {v.op.name: self._ema.average(v) for v in trained}
        return tf.group(train, moved, name="train_with_avg")

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Any:
        """A `tf.train.Saver` that saves each average under the name of its variable.

        Raises:
          RuntimeError: `apply_gradients` was not called before.
          ValueError: `var_list` lacks the average of a variable in it.
        """
        if self._averages is None:
            raise RuntimeError("Must call apply_gradients or minimize before swapping_saver")
        variables = tf1.global_variables() if var_list is None else var_list
        names = variables if isinstance(variables, dict) else {v.op.name: v for v in variables}
        swapped = {own: average.op.name for own, average in self._averages.items()}
        swapped.update({average: own for own, average in list(swapped.items())})
        missing = [name for name in names if swapped.get(name, name) not in names]
        if missing:
            raise ValueError("%s: its average is not among the variables to save" % missing[0])
        saved = {name: names[swapped.get(name, name)] for name in names}
        return tf1.train.Saver(saved, name=name, **kwargs)
