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
// One npm for all of them: each takes longer to start than to pack.
const packed = spawnSync('npm', ['pack', ...folders, '--pack-destination', target, '--silent'], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
})
if (packed.status !== 0) process.exit(1)
for (const name of packed.stdout.trim().split('\n')) process.stdout.write(`${join(target, name)}\n`)
