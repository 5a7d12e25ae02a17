// Makes what npm publishes, and packs it.
//
//   node scripts/build-packages.ts [FOLDER]     folders and tarballs there; default .tmp/packages
import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { buildPackages } from './packages/build.ts'
import { root } from './source-files.ts'

const target = resolve(process.argv[2] ?? join(root, '.tmp/packages'))
const folders = await buildPackages(target)
for (const folder of folders) {
  const packed = spawnSync('npm', ['pack', folder, '--pack-destination', target, '--silent'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (packed.status !== 0) process.exit(1)
  process.stdout.write(`${join(target, packed.stdout.trim())}\n`)
}
