#!/usr/bin/env node
/** The kube-controller-manager binary: the only place that knows the process it runs in. */
import { enableCompileCache } from 'node:module'

enableCompileCache?.()
const { main } = await import('./command.ts')
await main(process.argv.slice(2))
