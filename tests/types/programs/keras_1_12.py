"""Keras fit of TensorFlow 1.12: keras_to_tpu_model, and a model compiled with a strategy."""

import os

import numpy as np

import tpudist.contrib.tensorflow as tf
from tpudist.contrib.tensorflow import keras
from tpudist.contrib.tensorflow.contrib.tpu.python.tpu import keras_support
from tpudist.contrib.tensorflow.keras import backend as K
from tpudist.contrib.tensorflow.keras.layers import (
    LSTM,
    Activation,
    BatchNormalization,
    Conv2D,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    Input,
    MaxPooling2D,
)
from tpudist.contrib.tensorflow.keras.models import Model, Sequential
from tpudist.contrib.tensorflow.keras.optimizers import Adam
from tpudist.contrib.tensorflow.python.keras.callbacks import EarlyStopping

TPU_WORKER = "grpc://" + os.environ["COLAB_TPU_ADDR"]
(x_train, y_train), (x_test, y_test) = tf.keras.datasets.fashion_mnist.load_data()
x_train = np.expand_dims(x_train, -1).astype(np.float32) / 255
x_test = np.expand_dims(x_test, -1).astype(np.float32) / 255

model = Sequential()
model.add(BatchNormalization(input_shape=x_train.shape[1:]))
model.add(Conv2D(64, (5, 5), padding="same", activation="elu"))
model.add(MaxPooling2D(pool_size=(2, 2), strides=(2, 2)))
model.add(Dropout(0.25))
model.add(Flatten())
model.add(Dense(256))
model.add(Activation("elu"))
model.add(Dense(10, activation=tf.nn.softmax))
model.summary()
model.compile(
    optimizer=tf.train.AdamOptimizer(learning_rate=1e-3),
    loss=tf.keras.losses.sparse_categorical_crossentropy,
    metrics=["sparse_categorical_accuracy"],
)
strategy = tf.contrib.tpu.TPUDistributionStrategy(
    tf.contrib.cluster_resolver.TPUClusterResolver(tpu=TPU_WORKER)
)
tpu_model = tf.contrib.tpu.keras_to_tpu_model(model, strategy=strategy)


def generator(batch_size):
    while True:
        rows = np.random.randint(0, len(x_train), batch_size)
        yield x_train[rows], y_train[rows]


history = tpu_model.fit_generator(
    generator(1024),
    steps_per_epoch=100,
    epochs=5,
    validation_data=(x_test, y_test),
    callbacks=[EarlyStopping(monitor="val_loss"), keras.callbacks.TensorBoard("logs")],
)
print(history.history["loss"][-1])
tpu_model.save_weights("./weights.h5", overwrite=True)
cpu_model = tpu_model.sync_to_cpu()
print(cpu_model.predict(x_test[:16]), np.argmax(tpu_model.predict(x_test), axis=-1))


def lstm_model(seq_len=100, batch_size=None, stateful=True):
    source = Input(shape=(seq_len,), batch_size=batch_size, dtype=tf.int32)
    embedding = Embedding(input_dim=256, output_dim=512)(source)
    lstm = LSTM(512, stateful=stateful, return_sequences=True)(embedding)
    predicted = keras.layers.TimeDistributed(Dense(256, activation="softmax"))(lstm)
    made = Model(inputs=[source], outputs=[predicted])
    made.compile(
        optimizer=Adam(lr=0.01), loss="sparse_categorical_crossentropy", distribute=distribution
    )
    return made


distribution = tf.contrib.distribute.TPUStrategy(
    tf.contrib.cluster_resolver.TPUClusterResolver(TPU_WORKER)
)
K.clear_session()
training = lstm_model()
K.set_value(training.optimizer.lr, 0.001)
training.fit(x_train, y_train, epochs=2, batch_size=128, verbose=1)
print(keras_support.KerasTPUModel, isinstance(tpu_model, keras_support.KerasTPUModel))
