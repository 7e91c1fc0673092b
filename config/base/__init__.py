"""Problems with a stack file, and what their messages hide and suggest."""
