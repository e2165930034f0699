"""What TensorFlow.js has: the classes of layers that 4.22.0 can make out of a description."""

LAYERS = frozenset(
    {
        "Activation", "Add", "AlphaDropout", "Average", "AveragePooling1D", "AveragePooling2D", "AveragePooling3D",
        "BatchNormalization", "Bidirectional", "CategoryEncoding", "CenterCrop", "Concatenate", "Conv1D", "Conv2D",
        "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "ConvLSTM2D", "ConvLSTM2DCell", "Cropping2D", "Dense",
        "DepthwiseConv2D", "Dot", "Dropout", "ELU", "Embedding", "Flatten", "Functional", "GRU", "GRUCell",
        "GaussianDropout", "GaussianNoise", "GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalMaxPooling1D",
        "GlobalMaxPooling2D", "InputLayer", "LSTM", "LSTMCell", "LayerNormalization", "LeakyReLU", "Masking",
        "MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "Maximum", "Minimum", "Model", "Multiply", "PReLU", "Permute",
        "RNN", "RandomWidth", "ReLU", "RepeatVector", "Rescaling", "Reshape", "Resizing", "SeparableConv2D",
        "Sequential", "SimpleRNN", "SimpleRNNCell", "Softmax", "SpatialDropout1D", "StackedRNNCells",
        "ThresholdedReLU", "TimeDistributed", "UpSampling2D", "ZeroPadding2D",
    }
)  # fmt: skip
"""A test holds it against the release itself."""
