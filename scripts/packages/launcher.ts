import { OLDEST_NODE } from './publishable.ts'

/** An older Node is told so in one line. SQLite is experimental in Node 22: that is ours to know, not the user's. */
export function launcher(command: string, entry: string): string {
  const [major, minor] = OLDEST_NODE
  return `#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < ${major} || (major === ${major} && minor < ${minor})) {
  console.error('${command}: Node ${major}.${minor} or newer is needed, and this is ' + process.version)
  process.exit(1)
}
const { emitWarning } = process
process.emitWarning = (warning, ...rest) => {
  if ((rest[0]?.type ?? rest[0]) !== 'ExperimentalWarning') emitWarning.call(process, warning, ...rest)
}
await import('../dist/${entry}.js')
`
}
