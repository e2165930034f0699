// Counts the tensor handles of TensorFlow that tfjs-node's addon has made and not deleted, whatever the addon and its
// JavaScript note down themselves. It is linked into the addon: with --wrap the linker hands each of the four calls by
// which a handle comes or goes to the function here, and the number is one more function of the addon, handlesAlive().
//
// The addon's own initializer is renamed on g++'s command line, -Dnapi_register_module_v1=…, so that this one is first.

#include <atomic>
#include <cstdint>

#undef napi_register_module_v1
#include <node_api.h>

#include "tensorflow/c/eager/c_api.h"

namespace {

std::atomic<int64_t> alive{0};

TFE_TensorHandle *Counted(TFE_TensorHandle *handle) {
  if (handle != nullptr) ++alive;
  return handle;
}

napi_value HandlesAlive(napi_env env, napi_callback_info) {
  napi_value number = nullptr;
  napi_create_int64(env, alive, &number);
  return number;
}

}  // namespace

extern "C" {

TFE_TensorHandle *__real_TFE_NewTensorHandle(const TF_Tensor *tensor, TF_Status *status);
TFE_TensorHandle *__real_TFE_TensorHandleCopyToDevice(TFE_TensorHandle *handle, TFE_Context *context,
                                                      const char *device, TF_Status *status);
void __real_TFE_Execute(TFE_Op *op, TFE_TensorHandle **outputs, int *count, TF_Status *status);
void __real_TFE_DeleteTensorHandle(TFE_TensorHandle *handle);

TFE_TensorHandle *__wrap_TFE_NewTensorHandle(const TF_Tensor *tensor, TF_Status *status) {
  return Counted(__real_TFE_NewTensorHandle(tensor, status));
}

TFE_TensorHandle *__wrap_TFE_TensorHandleCopyToDevice(TFE_TensorHandle *handle, TFE_Context *context,
                                                      const char *device, TF_Status *status) {
  return Counted(__real_TFE_TensorHandleCopyToDevice(handle, context, device, status));
}

void __wrap_TFE_Execute(TFE_Op *op, TFE_TensorHandle **outputs, int *count, TF_Status *status) {
  __real_TFE_Execute(op, outputs, count, status);
  if (TF_GetCode(status) != TF_OK) return;
  for (int i = 0; i < *count; ++i) Counted(outputs[i]);
}

void __wrap_TFE_DeleteTensorHandle(TFE_TensorHandle *handle) {
  if (handle != nullptr) --alive;
  __real_TFE_DeleteTensorHandle(handle);
}

napi_value tfjs_node_register(napi_env env, napi_value exports);

NAPI_MODULE_EXPORT napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  napi_value function;
  if (napi_create_function(env, "handlesAlive", NAPI_AUTO_LENGTH, HandlesAlive, nullptr, &function) == napi_ok) {
    napi_set_named_property(env, exports, "handlesAlive", function);
  }
  return tfjs_node_register(env, exports);
}

}  // extern "C"
