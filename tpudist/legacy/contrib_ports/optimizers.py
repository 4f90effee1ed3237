"""Optimizers of ``tf.contrib.opt`` that training code for TPUs uses.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/contrib/opt.md
They are optimizers of ``tf.train``, with the slots and names that checkpoints of 1.15 have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable

import tensorflow as tf

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation, Tensor, Variable

tf1: Any = tf.compat.v1


class LARSOptimizer(tf1.train.MomentumOptimizer):
    """Layer-wise adaptive rate scaling over momentum (r1.15).

    Args:
      learning_rate, momentum: as of `tf.train.MomentumOptimizer`.
      weight_decay: factor of the variable that is added to its gradient.
      eeta: the trust coefficient.
      epsilon: added to the divisor of the trust ratio.
      name: prefix of the ops.
      skip_list: parts of names of variables that are neither scaled nor decayed.
      use_nesterov: as of `tf.train.MomentumOptimizer`.
    """

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Iterable[str] | None = None,
        use_nesterov: bool = False,
    ) -> None:
        if momentum < 0.0:
            raise ValueError("momentum should be positive: %s" % momentum)
        super().__init__(learning_rate, momentum, name=name, use_nesterov=use_nesterov)
        self._weight_decay = weight_decay
        self._eeta = eeta
        self._epsilon = epsilon
        self._skip_list = skip_list

    def compute_lr(self, grad: Any, var: Any) -> tuple[Any, Any]:
        """The rate for a variable, and its gradient with the decay."""
        rate = tf.cast(self._learning_rate_tensor, var.dtype.base_dtype)
        if self._skip_list is not None and any(part in var.name for part in self._skip_list):
            return rate, grad
        weights, gradients = tf.norm(var, ord=2), tf.norm(grad, ord=2)
        divisor = gradients + self._weight_decay * weights + self._epsilon
        ratio = tf1.where(gradients > 0, self._eeta * weights / divisor, tf.ones_like(weights))
        ratio = tf1.where(weights > 0, ratio, tf.ones_like(weights))
        return rate * ratio, grad + self._weight_decay * var

    def _apply_dense(self, grad: object, var: object) -> Operation:
        return self._scaled(super()._apply_dense, grad, var)

    def _resource_apply_dense(self, grad: object, var: object) -> Operation:
        return self._scaled(super()._resource_apply_dense, grad, var)

    def _scaled(self, apply: Any, grad: object, var: object) -> Operation:
        """Momentum of the scaled gradient, at rate 1: the rate is part of what is summed."""
        rate, grad = self.compute_lr(grad, var)
        before: Any = self._learning_rate_tensor
        self._learning_rate_tensor: Any = tf.ones_like(rate)
        try:
            return apply(grad * rate, var)
        finally:
            self._learning_rate_tensor = before


class LazyAdamOptimizer(tf1.train.AdamOptimizer):
    """Adam whose sparse updates touch the moments of the rows with gradients only (r1.15)."""

    def _apply_sparse(self, grad: Any, var: object) -> Operation:
        return self._rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: object, var: object, indices: object) -> Operation:
        return self._rows(grad, var, indices)

    def _rows(self, grad: Any, var: Any, indices: object) -> Operation:
        def cast(value: object) -> Tensor:
            return tf.cast(value, var.dtype.base_dtype)

        power1, power2 = map(cast, self._get_beta_accumulators())
        beta1, beta2 = cast(self._beta1_t), cast(self._beta2_t)
        rate = cast(self._lr_t) * tf.sqrt(1 - power2) / (1 - power1)
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_rows = beta1 * tf.gather(m, indices) + (1 - beta1) * grad
        v_rows = beta2 * tf.gather(v, indices) + (1 - beta2) * tf.square(grad)
        with tf.control_dependencies([m_rows, v_rows]):
            updates = [
                tf1.scatter_update(m, indices, m_rows),
                tf1.scatter_update(v, indices, v_rows),
            ]
        step = rate * m_rows / (tf.sqrt(v_rows) + cast(self._epsilon_t))
        return tf.group(tf1.scatter_sub(var, indices, step), *updates)


class AdaMaxOptimizer(tf1.train.AdamOptimizer):
    """Adam with the infinity norm in place of the second moment (r1.15)."""

    def __init__(
        self,
        learning_rate: object = 0.001,
        beta1: object = 0.9,
        beta2: object = 0.999,
        epsilon: object = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _power(self) -> Variable:
        graph = None if tf.executing_eagerly() else tf1.get_default_graph()
        return self._get_non_slot_variable("beta1_power", graph=graph)

    def _create_slots(self, var_list: Any) -> None:
        first = min(var_list, key=lambda variable: variable.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)
            self._zeros_slot(variable, "v", self._name)

    def _moments(self, grad: Any, var: Any, m: object, v: object) -> tuple[Any, Any, Any]:
        """The new moments, and what the variable loses."""

        def cast(value: object) -> Tensor:
            return tf.cast(value, var.dtype.base_dtype)

        beta1 = cast(self._beta1_t)
        m_new = beta1 * m + (1 - beta1) * grad
        v_new = tf.maximum(cast(self._beta2_t) * v, tf.abs(grad))
        rate = cast(self._lr_t) / (1 - cast(self._power()))
        return m_new, v_new, rate * m_new / (v_new + cast(self._epsilon_t))

    def _apply_dense(self, grad: object, var: object) -> Operation:
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_new, v_new, step = self._moments(grad, var, m, v)
        return tf.group(tf1.assign(m, m_new), tf1.assign(v, v_new), tf1.assign_sub(var, step))

    _resource_apply_dense = _apply_dense

    def _apply_sparse(self, grad: Any, var: object) -> Operation:
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: object, var: object, indices: object) -> Operation:
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        rows = self._moments(grad, var, tf.gather(m, indices), tf.gather(v, indices))
        with tf.control_dependencies(rows):
            return tf.group(
                tf1.scatter_update(m, indices, rows[0]),
                tf1.scatter_update(v, indices, rows[1]),
                tf1.scatter_sub(var, indices, rows[2]),
            )

    def _finish(self, update_ops: Any, name_scope: str) -> Operation:
        with tf.control_dependencies(update_ops):
            power = self._power()
            moved = tf1.assign(power, power * tf.cast(self._beta1_t, power.dtype.base_dtype))
        return tf.group(*update_ops, moved, name=name_scope)


class DecoupledWeightDecayExtension:
    """Decays variables before the optimizer that stands after it in the bases updates them (r1.15).

    Args:
      weight_decay: the share of a variable that it loses in a step; a number, a tensor or
        a function without arguments.
      **kwargs: of the optimizer.

    `minimize` and `apply_gradients` take `decay_var_list`: the variables to decay; None for
    all.
    """

    def __init__(self, weight_decay: object, **kwargs: Any) -> None:
        self._weight_decay = weight_decay
        self._decay_var_list: Any = None
        super().__init__(**kwargs)

    def minimize(self, *args: Any, decay_var_list: Any = None, **kwargs: Any) -> Operation:
        """As of the optimizer, and decays."""
        base: Any = super()
        self._decay_var_list = list(decay_var_list) if decay_var_list else None
        return base.minimize(*args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: object = None,
        name: str | None = None,
        decay_var_list: Any = None,
    ) -> Operation:
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

    def _after_decay(self, apply: Any, var: Any, grad: object, *args: Any) -> Operation:
        """Applies a gradient, taken before the decay, to the variable after it."""
        if not self._decays(var):
            return apply(grad, *args)
        with tf.control_dependencies([grad]):
            lost = tf.cast(self._decay(), var.dtype.base_dtype) * var
        with tf.control_dependencies([tf1.assign_sub(var, lost)]):
            return apply(grad, *args)

    def _after_decay_of_rows(self, apply: Any, var: Any, indices: object, *args: Any) -> Operation:
        if not self._decays(var):
            return apply(*args)
        grad = args[0].values if isinstance(args[0], tf.IndexedSlices) else args[0]
        with tf.control_dependencies([grad]):
            rows, _ = tf.unique(indices)
            lost = tf.cast(self._decay(), var.dtype.base_dtype) * tf.gather(var, rows)
        with tf.control_dependencies([tf1.scatter_sub(var, rows, lost)]):
            return apply(*args)

    def _apply_dense(self, grad: object, var: object) -> Operation:
        base: Any = super()
        return self._after_decay(base._apply_dense, var, grad, var)

    def _resource_apply_dense(self, grad: object, var: object) -> Operation:
        base: Any = super()
        return self._after_decay(base._resource_apply_dense, var, grad, var)

    def _apply_sparse(self, grad: Any, var: object) -> Operation:
        base: Any = super()
        return self._after_decay_of_rows(base._apply_sparse, var, grad.indices, grad, var)

    def _resource_apply_sparse(self, grad: object, var: object, indices: object) -> Operation:
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
        weight_decay: object,
        learning_rate: object = 0.001,
        beta1: object = 0.9,
        beta2: object = 0.999,
        epsilon: object = 1e-8,
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
        weight_decay: object,
        learning_rate: object,
        momentum: object,
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
        num_updates: object = None,
        sequential_update: bool = True,
    ) -> None:
        self._optimizer = opt
        self._ema = tf.train.ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._sequential_update = sequential_update
        self._averages: dict[str, Any] | None = None

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Tensor, Variable]]:
        """As of the optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: object = None, name: str | None = None
    ) -> Operation:
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
    ) -> object:
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
