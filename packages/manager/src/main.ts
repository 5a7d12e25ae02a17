#!/usr/bin/env node
/** The kube-controller-manager binary: with `command.ts` the only place that knows the process it runs in. */
import { runProgram } from './command.ts'
import { kubeControllerManager } from './kube-controller-manager.ts'

// Not awaited: docs/decisions/0017-packed-start.md has why. It ends the process itself.
void runProgram(kubeControllerManager, process.argv.slice(2))
