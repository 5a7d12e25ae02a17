// Makes what npm publishes, and packs it.
//
//   node scripts/build-packages.ts [FOLDER]     folders and tarballs there; default .tmp/packages
import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { buildPackages } from './packages/build.ts'
import { root } from './source-files.ts'

const [, , folder = join(root, '.tmp/packages'), ...more] = process.argv
if (folder.startsWith('-') || more.length > 0) {
  process.stderr.write('build-packages: use node scripts/build-packages.ts [FOLDER]\n')
  process.exit(2)
}
const target = resolve(folder)
const folders = await buildPackages(target)
for (const built of folders) {
  const packed = spawnSync('npm', ['pack', built, '--pack-destination', target, '--silent'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (packed.status !== 0) process.exit(1)
  process.stdout.write(`${join(target, packed.stdout.trim())}\n`)
}
