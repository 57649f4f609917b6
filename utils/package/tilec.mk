# Rules for GNU make: `include tilec.mk`, then let a program depend on gemm.h and gemm.cubin for a gemm.tile.
TILEC ?= tilec
TILEC_ARCH ?= sm_90a
TILEC_FLAGS ?=
export TILEC_FLAGS

%.cubin %.h: %.tile
	$(TILEC) $< -o $*.cubin --header=$*.h --arch=$(TILEC_ARCH) -MD -MF $*.d -MP

-include $(wildcard *.d)
