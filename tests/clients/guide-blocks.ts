/** The blocks of a guide that name a file (` ```python conftest.py `) are that file; ` ```sh ` blocks are commands. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { repository } from '../end-to-end/gyro-process.ts'

const textOf = (guide: string): string =>
  readFileSync(join(repository, 'docs/guides', guide), 'utf8')

export function writeFilesOf(guide: string, folder: string): void {
  for (const [, name = '', text = ''] of textOf(guide).matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

export function commandsOf(guide: string): readonly string[] {
  return [...textOf(guide).matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text!)
}
