/* SPDX-License-Identifier: GPL-2.0-only */
#include "coupled_cubic.h"
#include "shell.h"

AB_CONTROLLER("ab_coupledcubic");
