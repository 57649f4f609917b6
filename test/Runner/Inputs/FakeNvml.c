/* NVML for the card of FakeCuda.c. */
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) { return (*device = (void *)bus) == 0; }
int nvmlDeviceGetClockInfo(void *device, int type, unsigned *clock) {
  *clock = type == 1 ? 1755 : 3201;
  return 0;
}
