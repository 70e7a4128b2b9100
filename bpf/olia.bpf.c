/* SPDX-License-Identifier: GPL-2.0-only */
#include "olia.h"
#include "shell.h"

AB_CONTROLLER("ab_olia");
