// Tools of a script that are none of the repository's dependencies: pinned with their hashes in a folder beside the script, and
// installed at the first use in .gyropilot, as clients are: in a folder for temporary files another user could be first.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './source-files.ts'

/** `name`: of the folder in `scripts/`. Answers the `node_modules` with the tools. */
export function pinnedTools(name: string): string {
  const folder = join(root, '.gyropilot/tools', name)
  const wanted = join(root, 'scripts', name)
  const isThere = existsSync(join(folder, 'node_modules/.package-lock.json'))
  if (!isThere || lock(wanted) !== lock(folder)) {
    for (const file of ['package.json', 'package-lock.json'])
      cpSync(join(wanted, file), join(folder, file))
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }
  return join(folder, 'node_modules')
}

function lock(folder: string): string {
  return readFileSync(join(folder, 'package-lock.json'), 'utf8')
}
