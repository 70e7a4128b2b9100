/* SPDX-License-Identifier: GPL-2.0-only */
#include "ewtcp.h"
#include "shell.h"

AB_CONTROLLER("ab_ewtcp");
