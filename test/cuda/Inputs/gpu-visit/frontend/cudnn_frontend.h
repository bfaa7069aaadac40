// Stands where the header files of cuDNN's frontend are.
