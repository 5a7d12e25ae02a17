import assert from 'node:assert/strict'
import { test } from 'node:test'
import { declarationIn } from './api-pages.ts'

const TEXT = `import type { B } from './b.ts';
/** Not this. */
export interface Other {
    a: string;
}
/**
 * A thing.
 *
 * More of it.
 */
export declare class Thing {
    #private;
    private hidden;
    /** Shown. */
    readonly a: B;
}
/** The first. */
export declare function make(a: string): Thing;
export declare function make(a: number): Thing;
interface NotExported {
    b: string;
}
export declare const makeOther = 1;
//# sourceMappingURL=a.d.ts.map
`

test('a declaration has its docstring and what is not private', () => {
  assert.deepEqual(declarationIn(TEXT, 'Thing'), {
    doc: 'A thing.\n\nMore of it.',
    code: 'class Thing {\n    /** Shown. */\n    readonly a: B;\n}',
  })
})

test('overloads are one, and a longer name is another', () => {
  assert.deepEqual(declarationIn(TEXT, 'make'), {
    doc: 'The first.',
    code: 'function make(a: string): Thing;\nfunction make(a: number): Thing;',
  })
  assert.equal(declarationIn(TEXT, 'makeOther').doc, '')
})
