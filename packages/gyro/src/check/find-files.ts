/** From what was named on the command line to texts: folders are walked, files are read, what cannot be read is told. */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { SourceFile } from './source/source-file.ts'
import type { Finding } from './findings.ts'
import {
  isLocal,
  isManifestName,
  kustomizedFiles,
  KUSTOMIZATIONS,
  otherPurpose,
} from './folder-rules.ts'

interface FoundFile {
  readonly file: SourceFile
  /** Named on the command line: then it must be a manifest. */
  readonly named: boolean
}

export interface FoundFiles {
  readonly files: readonly FoundFile[]
  readonly notices: readonly Finding[]
  /** Named or found, and not read. One line each. */
  readonly unreadable: readonly Finding[]
}

/** `stdin`: what standard input gave, for `-`. */
export function findFiles(inputs: readonly string[], stdin: Uint8Array): FoundFiles {
  const finder = new Finder(stdin)
  for (const input of inputs) finder.input(input)
  return finder
}

/** What decides about the files of a folder. */
interface Place {
  /** Of a kustomization here or above: the files that it lists. */
  readonly listed?: ReadonlySet<string>
}

class Finder implements FoundFiles {
  readonly files: FoundFile[] = []
  readonly notices: Finding[] = []
  readonly unreadable: Finding[] = []
  readonly #read = new Set<string>()
  readonly #stdin: Uint8Array

  constructor(stdin: Uint8Array) {
    this.#stdin = stdin
  }

  input(input: string): void {
    if (input === '-') return this.#file('stdin', () => this.#stdin, true)
    const other = otherPurpose(basename(input))
    if (other !== undefined) return this.#notice(input, other)
    try {
      if (statSync(input).isDirectory()) this.#folder(input, {})
      else this.#file(input, () => readFileSync(input), true)
    } catch (error) {
      this.#problem(input, error)
    }
  }

  #folder(folder: string, place: Place): void {
    const entries = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    )
    const names = entries.map(({ name }) => name)
    if (names.includes('Chart.yaml')) return this.#chart(folder)
    const kustomization = names.find((name) => KUSTOMIZATIONS.includes(name))
    const here = kustomization === undefined ? place : this.#kustomized(folder, kustomization)
    for (const entry of entries) {
      const { name } = entry
      if (name.startsWith('.') || name === 'node_modules') continue
      const path = join(folder, name)
      try {
        if (entry.isDirectory()) this.#folder(path, here)
        else if (
          isManifestName(name) &&
          here.listed?.has(path) !== false &&
          statSync(path).isFile()
        )
          this.#file(path, () => readFileSync(path), false)
      } catch (error) {
        this.#problem(path, error)
      }
    }
  }

  /** Definitions in `crds` are not templates. */
  #chart(folder: string): void {
    const how = `helm template ${shown(folder)} | gyro check -`
    this.#notice(join(folder, 'Chart.yaml'), `a Helm chart: its templates are not checked: ${how}`)
    const definitions = join(folder, 'crds')
    try {
      // Most charts have none.
      const found = statSync(definitions, { throwIfNoEntry: false })
      if (found?.isDirectory() === true) this.#folder(definitions, {})
    } catch (error) {
      this.#problem(definitions, error)
    }
  }

  #kustomized(folder: string, name: string): Place {
    const path = join(folder, name)
    const how = `kubectl kustomize ${shown(folder)} | gyro check -`
    this.#notice(
      path,
      `built by kustomize: only its resources and crds are checked as they are: ${how}`,
    )
    const files = kustomizedFiles(new SourceFile(path, textOf(readFileSync(path))))
    if ('problem' in files) {
      const { file, start, problem: message } = files
      this.unreadable.push({ severity: 'error', file: path, ...file.positionOf(start), message })
      return { listed: new Set() }
    }
    for (const file of files) {
      if (isLocal(file) && !existsSync(join(folder, file)))
        this.#problem(path, new ListedGone(`it lists ${file}, which does not exist`))
    }
    return { listed: new Set(files.map((file) => join(folder, file))) }
  }

  #file(name: string, bytes: () => Uint8Array, named: boolean): void {
    if (this.#read.has(name)) return
    this.#read.add(name)
    try {
      this.files.push({ file: new SourceFile(name, textOf(bytes())), named })
    } catch (error) {
      this.#problem(name, error)
    }
  }

  #notice(file: string, message: string): void {
    this.notices.push({ severity: 'notice', file, line: 0, column: 0, message })
  }

  #problem(file: string, error: unknown): void {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    const isOwn = error instanceof NotText || error instanceof ListedGone
    if (code === '' && !isOwn) throw error
    const why = isOwn ? error.message : (FAULTS[code] ?? code)
    const message = `cannot be read: ${why}`
    this.unreadable.push({ severity: 'error', file, line: 0, column: 0, message })
  }
}

const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
  ELOOP: 'too many links',
}

class NotText extends Error {}
/** What a kustomization lists. */
class ListedGone extends Error {}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new NotText('it is not text in UTF-8')
  }
}

function shown(folder: string): string {
  return relative('', folder) === '' ? '.' : folder
}
