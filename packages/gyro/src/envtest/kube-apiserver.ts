#!/usr/bin/env node
/** The program that test harnesses start as kube-apiserver. Sets the process up before anything heavy is loaded. */
import { enableCompileCache } from 'node:module'

enableCompileCache?.()
const { apiServerCommand } = await import('./api-server-command.ts')
await apiServerCommand(process.argv.slice(2))
