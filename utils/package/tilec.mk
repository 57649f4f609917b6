# Rules for GNU make: `include tilec.mk`, then let a program depend on gemm.h and gemm.cubin for a gemm.tile, in this
# folder or another. What each source imports is kept in the folder TILEC_DEPS.
TILEC ?= tilec
TILEC_ARCH ?= sm_90a
TILEC_FLAGS ?=
TILEC_DEPS ?= .tilec
export TILEC_FLAGS

%.cubin %.h: %.tile
	@mkdir -p $(TILEC_DEPS)
	$(TILEC) $< -o $*.cubin --header=$*.h --arch=$(TILEC_ARCH) -MD -MF $(TILEC_DEPS)/$(subst /,-,$*).d -MP

# The rules of the dependency files are not the goal of a plain `make`: that stays the first one of the makefile.
tilec_default_goal := $(.DEFAULT_GOAL)
-include $(wildcard $(TILEC_DEPS)/*.d)
.DEFAULT_GOAL := $(tilec_default_goal)
