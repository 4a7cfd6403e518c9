// A dialog that asks the user for values.

import { h } from './dom.js';

/** Shows a dialog with `fields`: {name, label, type, required, hint, value}. Resolves to the values by name, or null when the user cancels. */
export function ask(title, text, fields, action) {
  return new Promise((resolve) => {
    const inputs = fields.map((field) => [field.name, h('input', {
      type: field.type ?? 'text', name: field.name, required: field.required ?? true, autocomplete: 'off',
      value: field.value, maxlength: field.maxlength ?? 1000,
    })]);
    const labels = fields.map((field, index) => h('label', null, field.label, inputs[index][1],
      field.hint ? h('span', { class: 'quiet' }, field.hint) : null));
    const dialog = h('dialog', { 'aria-labelledby': 'dialog-title' },
      h('form', { method: 'dialog', submit: () => { dialog.returnValue = 'ok'; } },
        h('h2', { id: 'dialog-title' }, title),
        text ? h('p', null, text) : null,
        labels,
        h('div', { class: 'actions' },
          h('button', { type: 'submit', class: 'primary' }, action),
          h('button', { type: 'button', click: () => dialog.close('') }, 'Cancel'))));
    dialog.addEventListener('close', () => {
      const given = Object.fromEntries(inputs.map(([name, input]) => [name, input.value.trim()]));
      const agreed = dialog.returnValue === 'ok';
      dialog.remove();
      resolve(agreed ? given : null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
