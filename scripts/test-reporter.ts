// A reporter for `node --test`: silent about what passes, plain about what fails, one closing line with the counts.
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

type TestPass = Extract<TestEvent, { readonly type: 'test:pass' }>['data']

interface Failure {
  readonly name: string
  readonly file?: string
  readonly line?: number
  readonly details: {
    readonly error: Error & { readonly cause?: unknown; readonly failureType?: string }
  }
}

export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let passed = 0
  let failed = 0
  let skipped = 0
  for await (const event of source) {
    if (event.type === 'test:stderr') yield event.data.message
    // The runner's word on an error that nobody caught, when it does not know of which test it is.
    if (event.type === 'test:diagnostic' && event.data.message.startsWith('Error: '))
      yield `FAILED  ${event.data.message}\n\n`
    if (event.type === 'test:pass' && !holdsTests(event.data)) {
      if (event.data.skip !== undefined || event.data.todo !== undefined) skipped++
      else passed++
    }
    if (event.type === 'test:fail') {
      const failure = event.data as unknown as Failure
      // A suite fails because a test in it did: that one is told.
      if (failure.details.error.failureType === 'subtestsFailed') continue
      failed++
      yield describe(failure)
    }
  }
  yield `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}\n`
}

/** Suites, and files of which several run in one process. */
function holdsTests({ name, details }: TestPass): boolean {
  return details.type === 'suite' || name.endsWith('.test.ts')
}

function describe({ name, file = '', line, details }: Failure): string {
  const { cause } = details.error
  const text =
    cause instanceof Error ? (cause.stack ?? cause.message) : String(cause ?? details.error)
  const place = file === '' ? '' : `  ${relative(process.cwd(), file)}:${line}`
  return `FAILED  ${name}${place}\n${text.replaceAll(/^/gm, '    ')}\n\n`
}
