#!/usr/bin/env node
/** The kube-controller-manager binary: with `command.ts` the only place that knows the process it runs in. */
import { runProgram } from './command.ts'
import { kubeControllerManager } from './kube-controller-manager.ts'

await runProgram(kubeControllerManager, process.argv.slice(2))
