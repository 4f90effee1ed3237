"""Optimizers of ``tf.contrib.opt`` that training code for TPUs uses.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/contrib/opt.md
They are optimizers of ``tf.train``, with the slots and names that checkpoints of 1.15 have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from typing import Any, Iterable

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

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._scaled(super()._apply_dense, grad, var)

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        return self._scaled(super()._resource_apply_dense, grad, var)

    def _scaled(self, apply: Any, grad: Any, var: Any) -> Any:
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

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        return self._rows(grad, var, indices)

    def _rows(self, grad: Any, var: Any, indices: Any) -> Any:
        def cast(value: Any) -> Any:
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
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _power(self) -> Any:
        graph = None if tf.executing_eagerly() else tf1.get_default_graph()
        return self._get_non_slot_variable("beta1_power", graph=graph)

    def _create_slots(self, var_list: Any) -> None:
        first = min(var_list, key=lambda variable: variable.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)
            self._zeros_slot(variable, "v", self._name)

    def _moments(self, grad: Any, var: Any, m: Any, v: Any) -> tuple[Any, Any, Any]:
        """The new moments, and what the variable loses."""

        def cast(value: Any) -> Any:
            return tf.cast(value, var.dtype.base_dtype)

        beta1 = cast(self._beta1_t)
        m_new = beta1 * m + (1 - beta1) * grad
        v_new = tf.maximum(cast(self._beta2_t) * v, tf.abs(grad))
        rate = cast(self._lr_t) / (1 - cast(self._power()))
        return m_new, v_new, rate * m_new / (v_new + cast(self._epsilon_t))

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        m_new, v_new, step = self._moments(grad, var, m, v)
        return tf.group(tf1.assign(m, m_new), tf1.assign(v, v_new), tf1.assign_sub(var, step))

    _resource_apply_dense = _apply_dense

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        rows = self._moments(grad, var, tf.gather(m, indices), tf.gather(v, indices))
        with tf.control_dependencies(rows):
            return tf.group(
                tf1.scatter_update(m, indices, rows[0]),
                tf1.scatter_update(v, indices, rows[1]),
                tf1.scatter_sub(var, indices, rows[2]),
            )

    def _finish(self, update_ops: Any, name_scope: str) -> Any:
        with tf.control_dependencies(update_ops):
            power = self._power()
            moved = tf1.assign(power, power * tf.cast(self._beta1_t, power.dtype.base_dtype))
        return tf.group(*update_ops, moved, name=name_scope)
